import type { ClientBase } from "pg";

/**
 * What a pool does with each new connection before it gives it to anybody; a connection with which
 * it fails is not kept. The pool waits for it, which its types do not say.
 */
export function onConnect(run: (client: ClientBase) => Promise<unknown>): (client: ClientBase) => void {
  return run as (client: ClientBase) => void;
}
