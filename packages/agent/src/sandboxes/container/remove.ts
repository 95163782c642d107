import { setTimeout as delay } from "node:timers/promises";
import { type EngineApi, EngineApiError } from "./engine-api.ts";

export interface ContainerLeftover {
  readonly kind: "container" | "volume";
  readonly name: string;
}

const TRY_AGAIN_MS = 100;
const GIVE_UP_MS = 30_000;

/**
 * Removes one of our containers or volumes, and returns when it is gone. A runtime that is just
 * removing the container by itself refuses for a while (409, or Podman's 500), and a volume is in
 * use until its container is gone.
 * @throws EngineApiError the runtime's last answer
 */
export async function removeForCertain(api: EngineApi, { kind, name }: ContainerLeftover): Promise<void> {
  const path = kind === "container" ? `/containers/${name}?force=1&v=1` : `/volumes/${name}?force=1`;
  const giveUp = performance.now() + GIVE_UP_MS;
  for (;;) {
    try {
      await api.call("DELETE", path);
      return;
    } catch (error) {
      if (!(error instanceof EngineApiError)) throw error;
      if (error.status === 404) return;
      if (error.status === null || performance.now() > giveUp) throw error;
    }
    await delay(TRY_AGAIN_MS);
  }
}
