import type { ClientBase } from "pg";

/**
 * A pool's set-up of each new connection before handing it out; if it fails, the connection is
 * dropped. The pool waits for it, although its types don't say so.
 */
export function onConnect(run: (client: ClientBase) => Promise<unknown>): (client: ClientBase) => void {
  return run as (client: ClientBase) => void;
}
