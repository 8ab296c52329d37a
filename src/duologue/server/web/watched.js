// Which call the page watches: stored in the address, so that it survives a reload and can be shared.
//
// Rule: the address is the only place where it is stored.

export function watchedCall() {
  return new URL(location.href).searchParams.get("watch") || null;
}

export function keepWatched(id) {
  const address = new URL(location.href);
  if (id) address.searchParams.set("watch", id);
  else address.searchParams.delete("watch");
  history.replaceState(null, "", address);
}
