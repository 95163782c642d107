import { expect, test } from "vitest";
import { RecordingLogger } from "../../test/recording-logger.ts";
import { Cleanup } from "./cleanup.ts";

test("a step that never ends is named, and the steps after it are done all the same", async () => {
  const logger = new RecordingLogger();
  const cleanup = new Cleanup(logger, 20);
  const done: string[] = [];
  const step = (name: string) => async (): Promise<void> => void done.push(name);
  cleanup.add("the first", step("first"));
  cleanup.add("the second", () => new Promise(() => undefined));
  cleanup.add("the third", step("third"));
  await cleanup.run();
  expect(done).toEqual(["third", "first"]);
  expect(logger.lines).toEqual([
    {
      level: "error",
      fields: { step: "the second", within_ms: 20 },
      message: "the service does not wait any longer for a part of it to stop",
    },
  ]);
});

test("a step with a limit of its own takes as long as it takes", async () => {
  const logger = new RecordingLogger();
  const cleanup = new Cleanup(logger, 0);
  const longer = Promise.withResolvers<void>();
  let isOver = false;
  cleanup.addLimited(async () => {
    await longer.promise;
    isOver = true;
  });
  const running = cleanup.run();
  setTimeout(longer.resolve, 50);
  await running;
  expect([isOver, logger.lines]).toEqual([true, []]);
});

test("a step that fails, in time or late, keeps no other from its turn", async () => {
  const cleanup = new Cleanup(new RecordingLogger(), 20);
  const late = Promise.withResolvers<void>();
  let isOver = false;
  cleanup.add("the first", async () => void (isOver = true));
  cleanup.add("one that fails", () => Promise.reject(new Error("the second failed")));
  cleanup.add("one that fails late", () => late.promise);
  await expect(cleanup.run()).rejects.toThrow("the second failed");
  late.reject(new Error("nobody hears this"));
  expect(isOver).toBe(true);
});
