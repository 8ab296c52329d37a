// Parts of the page that show only some slices of the model.
//
// Rule: a part is drawn again only when one of its slices has changed.

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
