import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { utf8 } from "../bytes.ts";
import { ProofError } from "../proof-error.ts";
import { ListSplitter } from "./list-splitter.ts";
import { type JsonObject, parseJson } from "./strict-json.ts";

const LIMITS = { item: 1000, rest: 5000 };

/** What the text says if its list is taken out and put back. */
function split(text: Uint8Array, piece: number, limits = LIMITS): JsonObject {
  const splitter = new ListSplitter("files", limits);
  const items: Uint8Array[] = [];
  for (let at = 0; at < text.length; at += piece) items.push(...splitter.add(text.subarray(at, at + piece)));
  const rest = parseJson(splitter.end()) as JsonObject;
  const parsed = items.map((item) => parseJson(item));
  return parsed.length === 0 ? rest : { ...rest, files: parsed };
}

describe("a list taken out of JSON", () => {
  it.each([
    '{"a":1,"files":[{"b":[1,{"c":"]}"}]},{}],"d":{"files":[1]}}',
    '{"files":[]}',
    ' { "files" : [ 1 , null,true ,"a,]\\\\" , [] ] , "a" : [ ] } ',
    '{"files":{"a":[1]}}',
    String.raw`{"a":"\"files\":[1]","b":["files",[1]]}`,
    String.raw`{"\u0066iles":[1]}`,
    '{"fä":"🦀","files":["é🦀"]}',
    '[{"files":[1]}]',
  ])("is the one that is in %s", (text) => {
    for (const piece of [1, 3, 1000]) expect(split(utf8(text), piece)).toEqual(JSON.parse(text));
  });

  it.each([
    '{"files":[1,]}',
    '{"files":[,1]}',
    '{"files":[1 2]}',
    '{"files":[{}{}]}',
    '{"files":[{]}',
    '{"files":[1}',
    '{"files":[1',
    '{"files":["a]}',
    '{"files":[}]}',
    '{"files":[1],"files":[2]}',
    '["files":[1]]',
    '{"files":[1]',
    "",
  ])("is in no text like %s", (text) => {
    expect(() => split(utf8(text), 2)).toThrow(ProofError);
  });

  it("has no item, and no rest, above its limit", () => {
    const long = (length: number): string => "a".repeat(length);
    expect(() => split(utf8(`{"files":["${long(1000)}"]}`), 7)).toThrow(/larger than 1000 bytes/);
    expect(() => split(utf8(`{"files":[],"a":"${long(5000)}"}`), 7)).toThrow(/larger than 5000 bytes/);
  });

  it("never says anything else than the whole text", () => {
    const object = fc.dictionary(
      fc.constantFrom("a", "files", 'b"]', "é"),
      fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.array(fc.jsonValue({ maxDepth: 2 }))),
    );
    const change = fc.record({
      at: fc.nat(),
      cut: fc.nat(2),
      put: fc.constantFrom("", ",", "]", "}", '"', "{", "[", "\\", ":", "1"),
    });
    const limits = { item: 100_000, rest: 100_000 };
    fc.assert(
      fc.property(object, fc.option(change), fc.integer({ min: 1, max: 9 }), (value, changed, piece) => {
        let text = JSON.stringify(value);
        if (changed !== null) {
          const at = changed.at % (text.length + 1);
          text = text.slice(0, at) + changed.put + text.slice(at + changed.cut);
        }
        const parsed = outcomeOf(() => parseJson(utf8(text)));
        expect(
          outcomeOf(() => split(utf8(text), piece, limits)),
          text,
        ).toEqual(parsed);
      }),
      { numRuns: 1000 },
    );
  });
});

function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    expect(error).toBeInstanceOf(ProofError);
    return "refused";
  }
}
