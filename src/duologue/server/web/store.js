// The one place that holds what the page knows.
//
// Rule: data flows one way: a message, the reducer, a new model, the parts that show it.

export function createStore(reduce, first) {
  let model = first;
  const listeners = [];
  return {
    get model() {
      return model;
    },
    dispatch(message) {
      const before = model;
      model = reduce(model, message);
      if (model !== before) for (const listener of listeners) listener(model, before, message);
    },
    subscribe(listener) {
      listeners.push(listener);
      listener(model, model, { type: "panel.first" });
    },
  };
}

/** A listener that is called only when one of the named slices has changed. */
export function watching(slices, show) {
  let seen = null;
  return (model) => {
    const now = slices.map((slice) => model[slice]);
    if (seen && now.every((value, index) => value === seen[index])) return;
    seen = now;
    show(model);
  };
}
