import { expect, test } from "vitest";
import { createStreamLogger } from "./stream-logger.ts";
import type { LogFormat, LogLevel } from "./stream-logger.ts";

function record(least: LogLevel, format: LogFormat) {
  const lines: string[] = [];
  return { lines, logger: createStreamLogger({ write: (text: string) => lines.push(text) }, least, format) };
}

test("the log is one JSON object a line, with the causes of errors", () => {
  const { lines, logger } = record("debug", "json");
  const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  logger.error({ err: new TypeError("broken\nbadly", { cause }), size: 5n }, "a request failed");
  expect(lines).toHaveLength(1);
  expect(lines[0]?.indexOf("\n")).toBe((lines[0]?.length ?? 0) - 1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: "error",
    message: "a request failed",
    size: "5",
    err: { type: "TypeError", message: "broken\nbadly", cause: { message: "refused", code: "ECONNREFUSED" } },
  });
});

test("messages below the configured level are left out", () => {
  const { lines, logger } = record("warn", "text");
  logger.debug({}, "a");
  logger.info({}, "b");
  logger.warn({ port: 8443, name: "x", none: undefined }, "c");
  expect(lines.map((line) => line.slice(9))).toEqual(["warn  c port=8443 name=x\n"]);
});

test.each(["json", "text"] as const)("%s: no field begins a line or is obeyed by a terminal", (format) => {
  const { lines, logger } = record("info", format);
  const host = "h\u001b[2J\u202e\u0085\n12:00:00 info  all is well";
  logger.warn({ host, err: new Error(host) }, "an agent is silent");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[\x20-\x7e]+\n$/);
  expect(lines[0]).toContain("\\u202e");
});
