// The client as a React hook: connected while the component is mounted, and rendered again when the model changes.

import { useCallback, useEffect, useMemo, useSyncExternalStore } from "react";
import { Client } from "./dist/client.js";

/** Returns `{ client, model }`. Another `url` or `name` makes another client. */
export function useDuologue(options = {}) {
  const client = useMemo(() => new Client(options), [options.url, options.name]);
  useEffect(() => {
    client.connect();
    return () => client.close();
  }, [client]);
  const subscribe = useCallback((changed) => client.subscribe(changed), [client]);
  const read = () => client.model;
  return { client, model: useSyncExternalStore(subscribe, read, read) };
}
