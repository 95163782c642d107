import { expect, onTestFinished, test } from "vitest";
import { RunError } from "../errors/run-error.ts";
import { AnsweringChild } from "./answering-child.ts";
import { startChild } from "./child.ts";

/** Answers each line by the code in it. */
const CHILD = `require("node:readline").createInterface({ input: process.stdin })
  .on("line", (line) => eval(JSON.parse(line).code));`;

function childOf(maxAnswer?: number): AnsweringChild<{ code: string }, unknown> {
  const { signal } = new AbortController();
  const child = new AnsweringChild<{ code: string }, unknown>({
    start: () =>
      startChild({ command: process.execPath, args: ["-e", CHILD], signal, stopSignal: "SIGKILL" }),
    whyEnded: ({ code }) => new RunError("sandbox_failed", `ended with ${code}`),
    signal,
    ...(maxAnswer === undefined ? {} : { maxAnswer }),
  });
  onTestFinished(() => child.close());
  return child;
}

test("each request gets its answer, of one process", async () => {
  const child = childOf();
  const pid = await child.ask({ code: "console.log(process.pid)" });
  expect(await child.ask({ code: `console.log(JSON.stringify("é".repeat(100_000)))` })).toBe(
    "é".repeat(100_000),
  );
  expect(await child.ask({ code: "console.log(process.pid)" })).toBe(pid);
});

test("no answer in time ends the process, and the next request gets another", async () => {
  const child = childOf();
  const pid = await child.ask({ code: "console.log(process.pid)" });
  expect(await child.ask({ code: "for (;;);" }, 0.2)).toBeNull();
  expect(await child.ask({ code: "console.log(process.pid)" })).not.toBe(pid);
});

test("a process that ends says how, also after half an answer", async () => {
  await expect(childOf().ask({ code: "process.exit(3)" })).rejects.toThrow("ended with 3");
  const half = `process.stdout.write("[1,", () => process.exit(4))`;
  await expect(childOf().ask({ code: half })).rejects.toThrow("ended with 4");
});

test("an answer without end is not read to its end", async () => {
  const endless = `const more = () => process.stdout.write("1".repeat(1 << 16), more); more();`;
  await expect(childOf(1 << 20).ask({ code: endless })).rejects.toThrow("an answer without end");
});
