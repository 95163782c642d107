import { expect, test } from "vitest";
import { escapeXml, xmlElements, xmlText, xmlTexts } from "./xml.ts";

test("elements are found in order, including those inside the entries of a list", () => {
  const xml =
    "<L><Key>a</Key><Contents><Key>b &amp; c</Key></Contents><Contents><Key/></Contents><Key></Key></L>";
  expect(xmlElements(xml, "Contents")).toEqual(["<Key>b &amp; c</Key>", "<Key/>"]);
  expect(xmlTexts(xml, "Key")).toEqual(["a", "b & c", ""]);
  expect(xmlText(xml, "Key")).toBe("a");
  expect(xmlText(xml, "UploadId")).toBeNull();
});

test("escaped text is read back, and a reference to no character stays unchanged", () => {
  const text = `<&">' é 𝄞`;
  expect(xmlText(`<E>${escapeXml(text)}</E>`, "E")).toBe(text);
  expect(xmlText("<E>&#x41;&#65;&apos;&#x110000;&copy;</E>", "E")).toBe("AA'&#x110000;&copy;");
});

test("a million unclosed elements do not block the process", () => {
  const started = process.cpuUsage();
  expect(xmlTexts("<Key>".repeat(1_000_000), "Key")).toEqual([]);
  // Searching again from each of these would take hours.
  expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
});
