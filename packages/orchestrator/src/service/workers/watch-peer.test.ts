import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Peer } from "../../platform/workers/peer.ts";
import { WATCH, watchPeer } from "./watch-peer.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A process whose thread can be caught: what it is asked meanwhile it answers afterwards. */
function watched() {
  let isCaught = false;
  const kept: object[] = [];
  const other = new Peer((message) => watching.take(message), { ping: () => null });
  const watching: Peer = new Peer((message) => (isCaught ? kept.push(message) : other.take(message)), {});
  const onSilent = vi.fn();
  const stop = watchPeer(watching, onSilent);
  return {
    watching,
    onSilent,
    stop,
    asked: kept,
    set isCaught(caught: boolean) {
      isCaught = caught;
      if (!caught) for (const message of kept.splice(0)) other.take(message);
    },
  };
}

test("a process that answers is left alone", async () => {
  const { onSilent } = watched();
  await vi.advanceTimersByTimeAsync(20 * WATCH.silent_ms);
  expect(onSilent).not.toHaveBeenCalled();
});

test("a process that answers nothing for thirty seconds is reported once, and asked once only", async () => {
  const process = watched();
  await vi.advanceTimersByTimeAsync(WATCH.every_ms);
  process.isCaught = true;
  await vi.advanceTimersByTimeAsync(WATCH.every_ms + WATCH.silent_ms - 1);
  expect(process.onSilent).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(10 * WATCH.silent_ms);
  expect(process.onSilent).toHaveBeenCalledTimes(1);
  expect(process.asked).toHaveLength(1);
});

test("a process that has not answered yet has a minute to start, and is then reported", async () => {
  const process = watched();
  process.isCaught = true;
  await vi.advanceTimersByTimeAsync(WATCH.every_ms + WATCH.start_ms - 1);
  expect(process.onSilent).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(process.onSilent).toHaveBeenCalledExactlyOnceWith(WATCH.start_ms);
});

test("a process that was caught for less is left alone, however often", async () => {
  const process = watched();
  for (let n = 0; n < 5; n++) {
    process.isCaught = true;
    await vi.advanceTimersByTimeAsync(WATCH.silent_ms - WATCH.every_ms);
    process.isCaught = false;
    await vi.advanceTimersByTimeAsync(WATCH.every_ms);
  }
  expect(process.onSilent).not.toHaveBeenCalled();
});

test("a process that ended, or is watched no more, is never reported", async () => {
  const [ended, stopped] = [watched(), watched()];
  ended.isCaught = true;
  stopped.isCaught = true;
  await vi.advanceTimersByTimeAsync(WATCH.every_ms);
  ended.watching.end();
  stopped.stop();
  await vi.advanceTimersByTimeAsync(10 * WATCH.silent_ms);
  expect(ended.onSilent).not.toHaveBeenCalled();
  expect(stopped.onSilent).not.toHaveBeenCalled();
});
