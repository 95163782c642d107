import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { utf8 } from "../bytes.ts";
import { ProofError } from "../proof-error.ts";
import { canonicalJson } from "./canonical-json.ts";
import { parseJson } from "./strict-json.ts";

describe("canonical JSON", () => {
  /** RFC 8785 section 3.2.2 and 3.2.3, and the published test data of the same author. */
  it.each([
    [
      String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    ],
    [
      String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
      `{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}`,
    ],
    [`[56, {"d": true, "10": null, "1": [ ]}]`, `[56,{"1":[],"10":null,"d":true}]`],
    [
      `{"1": {"f": {"f": "hi","F": 5} ,"\\n": 56.0}, "10": { }, "": "empty", "a": { }, "111": [ {"e": "yes","E": "no" } ], "A": { }}`,
      `{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}`,
    ],
    [`{"Unnormalized Unicode":"A\\u030a"}`, `{"Unnormalized Unicode":"A\u030a"}`],
  ])("of %s", (input, output) => {
    expect(canonicalJson(JSON.parse(input))).toBe(output);
  });

  /** RFC 8785 appendix B: IEEE 754 bits and their text. */
  it.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
  ])("of the double %s", (bits, text) => {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(`0x${bits}`));
    expect(canonicalJson(view.getFloat64(0))).toBe(text);
  });

  it.each([
    [undefined],
    [NaN],
    [Infinity],
    [1n],
    [() => 0],
    [Symbol("s")],
    ["\ud800"],
    [{ "\udc00": 1 }],
    [{ a: undefined }],
    [[undefined]],
    [new Date(0)],
    [new Map()],
  ])("refuses %s", (value) => {
    expect(() => canonicalJson(value)).toThrow(ProofError);
  });

  it("keeps the value and does not change when it is formatted again", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = canonicalJson(value);
        expect(parseJson(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });
});

describe("strict JSON", () => {
  it.each([
    [`{"a":1,"a":2}`],
    [`{"a":1,"\\u0061":2}`],
    [`{"x":[{"b":{},"b":[]}]}`],
    [`{"result":"failed","checks":[],"result":"passed"}`],
    [`"\\ud800"`],
    [`{"\\udfff":1}`],
    [`1e400`],
    [`[1,]`],
    [`01`],
    [`NaN`],
    [``],
    [`\ufeff{}`],
    [`${"[".repeat(65)}${"]".repeat(65)}`],
    ["[".repeat(100_000)],
  ])("refuses %.40s", (text) => {
    expect(() => parseJson(text)).toThrow(ProofError);
  });

  it.each([
    [`{"a":{"a":{"a":["a",{"a":1}]}},"b":"a"}`],
    [`{"a":"{\\"a\\":1,\\"a\\":2}"}`],
    [`{"a\\"":1,"a":2,"":3,"__proto__":4}`],
    [`["a:","a","a",":"]`],
  ])("takes %s", (text) => {
    expect(JSON.stringify(parseJson(text))).toBe(text);
  });

  it("refuses many megabytes of almost nothing, which take gigabytes as values", () => {
    // Some hundred kilobytes of a ZIP unpack to this.
    for (const item of ["{},", "[],", "1,", '{"a":{}},'])
      expect(() => parseJson(`[${item.repeat((16 * 2 ** 20) / item.length)}1]`)).toThrow(
        expect.objectContaining({ code: "malformed_json", message: expect.stringContaining("values") }),
      );
    // As a list of many sources or agents has.
    const member = '"recorded_at":null,';
    const members = (n: number) =>
      `{"n":${n},${member.replace("at", "at_1")}${member}"id":"evt_0123456789"},`;
    const many = Array.from({ length: 200_000 }, (_, n) => members(n)).join("");
    expect(many.length).toBeGreaterThan(12 * 2 ** 20);
    expect(parseJson(`[${many}1]`)).toHaveLength(200_001);
    expect(parseJson(`["${"{,".repeat(5 * 2 ** 20)}"]`)).toHaveLength(1);
  });

  it("reads 16 MiB of escapes, and colons in strings only", () => {
    const escapes = "\\n".repeat(8 * 1024 * 1024);
    expect(parseJson(`{ "a": "${escapes}" }`)).toEqual({ a: "\n".repeat(8 * 1024 * 1024) });
    expect(parseJson(String.raw`{ "a:\":b": "\\", "c": ":\\\"" }`)).toEqual({
      'a:":b': "\\",
      c: String.raw`:\"`,
    });
    expect(() => parseJson(`{ "a": "${escapes}", "a": 1 }`)).toThrow(ProofError);
  });

  it("refuses bytes that are not UTF-8", () => {
    expect(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(ProofError);
    expect(parseJson(utf8(`"ö"`))).toBe("ö");
  });
});
