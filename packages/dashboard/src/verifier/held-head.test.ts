import { expect, test } from "vitest";
import {
  type SplitView,
  forgetLog,
  type HeldHead,
  keepHead,
  recordSplitView,
  readSplitView,
  readHeldHead,
} from "./held-head.ts";

const ORIGIN = "log.example.com/org_1";
const head: HeldHead = { checkpoint: "c", verifier_key: "k", since: "s", seen_at: "t" };
const splitView: SplitView = {
  raised_at: "t",
  reason: "head_forked",
  detail: "two roots",
  kept: head,
  offered: { checkpoint: "d", verifier_key: "k" },
};

function storage() {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  };
}

test("each log has its own head", () => {
  const place = storage();
  keepHead(place, ORIGIN, head);
  expect(readHeldHead(place, ORIGIN)).toEqual(head);
  expect(readHeldHead(place, "log.example.com/org_2")).toBeNull();
});

test("the first split view stays until the log is forgotten", () => {
  const place = storage();
  keepHead(place, ORIGIN, head);
  recordSplitView(place, ORIGIN, splitView);
  recordSplitView(place, ORIGIN, { ...splitView, detail: "what follows from it" });
  expect(readSplitView(place, ORIGIN)).toEqual(splitView);
  forgetLog(place, ORIGIN);
  expect(readSplitView(place, ORIGIN)).toBeNull();
  expect(readHeldHead(place, ORIGIN)).toBeNull();
});

test.each(["", "{", "null", "[]", "{}", '{"checkpoint":1}', '"text"'])(
  "stored garbage is ignored: %s",
  (text) => {
    const place = storage();
    for (const name of ["head", "alarm"]) place.setItem(`attestore.log-${name}.${ORIGIN}`, text);
    expect(readHeldHead(place, ORIGIN)).toBeNull();
    expect(readSplitView(place, ORIGIN)).toBeNull();
  },
);
