// Holds the model and notifies the parts that show it.
//
// Rule: data flows one way: message, reducer, new model, parts.

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
      if (model !== before) for (const listener of [...listeners]) listener(model, before, message);
    },
    subscribe(listener) {
      listeners.push(listener);
      listener(model, model, { type: "client.first" });
      return () => {
        const at = listeners.indexOf(listener);
        if (at >= 0) listeners.splice(at, 1);
      };
    },
  };
}
