import { expect, test, vi } from "vitest";
import { Peer } from "./peer.ts";
import { ClaimsOfWorkers, RemoteClaims } from "./remote-claims.ts";

/** The primary, and workers whose messages to it are texts, as between processes. */
function primaryWith() {
  const all = new ClaimsOfWorkers();
  return () => {
    const pass = (other: () => Peer) => (message: object) => {
      const text = JSON.stringify(message);
      setImmediate(() => other().take(JSON.parse(text)));
    };
    const claims = new RemoteClaims(() => worker);
    const { procedures, gone } = all.of(() => primary);
    const worker: Peer = new Peer(
      pass(() => primary),
      claims.procedures,
    );
    const primary: Peer = new Peer(
      pass(() => worker),
      procedures,
    );
    return { turns: claims.turns, places: claims.places, kill: gone };
  };
}

test("workers share one count, and a killed worker's places are free", async () => {
  const add = primaryWith();
  const [first, second] = [add(), add()];
  const wanted = [{ name: "packs", amount: 1, limit: 2 }];
  const taken = await first.places.take(wanted);
  await second.places.take(wanted);
  expect(await second.places.take(wanted)).toEqual({ full: "packs" });
  if (!("full" in taken)) taken.release();
  expect(await second.places.take(wanted)).not.toHaveProperty("full");
  expect(await first.places.take(wanted)).toEqual({ full: "packs" });
  second.kill();
  expect(await first.places.held("packs")).toBe(0);
});

test("an upload's room is given back in parts of at least 16 MiB, and the rest at its end", async () => {
  const mib = 1024 ** 2;
  const { places } = primaryWith()();
  const taken = await places.take([{ name: "room", amount: 40 * mib, limit: 40 * mib }]);
  if ("full" in taken) throw new Error("it is full");
  for (let n = 0; n < 17; n++) taken.give(mib);
  expect(await places.held("room")).toBe(24 * mib);
  taken.release();
  expect(await places.held("room")).toBe(0);
});

test("a turn goes to the next worker when its holder ends it, was killed, or was overtaken and ends", async () => {
  const add = primaryWith();
  const [first, second] = [add(), add()];
  const overtaken = vi.fn();
  const end = await first.turns.take("object", overtaken);
  const next = second.turns.take("object");
  await vi.waitFor(() => expect(overtaken).toHaveBeenCalledOnce());
  end();
  await next;
  const last = first.turns.take("object");
  second.kill();
  (await last)();
  const again = await first.turns.take("object");
  again();
});
