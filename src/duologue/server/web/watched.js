// Which call the page watches: in its address, so that it outlives a reload and can be passed on.
//
// Rule: a page that watches has a seat of its own, so that it is in nobody's way.

let place = null;

export function watchedCall() {
  return new URL(location.href).searchParams.get("watch") || null;
}

export function keepWatched(id) {
  const address = new URL(location.href);
  if (id) address.searchParams.set("watch", id);
  else address.searchParams.delete("watch");
  history.replaceState(null, "", address);
}

export function watchersSeat() {
  place ??= `operator-${Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join("")}`;
  return place;
}
