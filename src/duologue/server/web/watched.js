// Which call the page watches: stored in the address, so that it survives a reload and can be shared.
//
// Rule: a watching page uses its own seat, so that it doesn't block the user's conversation.

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
