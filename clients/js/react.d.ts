import type { Client, ClientOptions, Model } from "./index.js";

/** A client that is connected while the component is mounted. Another `url` or `name` makes another client. */
export function useDuologue(options?: ClientOptions): { client: Client; model: Model };
