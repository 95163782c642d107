import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RecordingLogger } from "../../test/recording-logger.ts";
import type { OpenFiles } from "../platform/files/open-files.ts";
import { watchOpenFiles } from "./watch-open-files.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("few open files left are logged once, and that there are enough again only after a calm minute", async () => {
  const logger = new RecordingLogger();
  const files: OpenFiles = { open: 50, limit: 100 };
  const watch = watchOpenFiles(logger, new Registry(), { count: async () => ({ ...files }) });
  const messages = (): string[] => logger.lines.map(({ level }) => level);
  const at = async (open: number, looks: number): Promise<void> => {
    files.open = open;
    await vi.advanceTimersByTimeAsync(looks * 5000);
  };
  await at(89, 3);
  expect([messages(), watch.warnings()]).toEqual([[], []]);
  await at(90, 3);
  expect([messages(), watch.warnings()]).toEqual([["warn"], ["few_open_files_left"]]);
  expect(logger.lines[0]?.fields).toEqual({ open: 90, limit: 100 });
  for (let turn = 0; turn < 5; turn++) {
    await at(20, 2);
    await at(100, 2);
  }
  await at(20, 11);
  expect(messages()).toEqual(["warn"]);
  await at(20, 1);
  expect([messages(), watch.warnings()]).toEqual([["warn", "info"], []]);
  watch.stop();
});
