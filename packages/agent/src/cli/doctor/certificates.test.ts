import { X509Certificate } from "node:crypto";
import { expect, it } from "vitest";
import { makeCertificates } from "../../../test/service/certificates.ts";
import { examineCertificate } from "./certificates.ts";

const certificate = new X509Certificate(makeCertificates().ca);
const ends = certificate.validToDate.getTime();
const at = (beforeEnd_ms: number) =>
  examineCertificate("certificate", certificate, "renew", ends - beforeEnd_ms);

it("doctor warns in the last fifth of a short-lived certificate's life, and says when one has expired", () => {
  // It is valid for two days.
  const HOUR_MS = 3_600_000;
  expect(at(47 * HOUR_MS)).toMatchObject({ level: "ok" });
  expect(at(9 * HOUR_MS)).toMatchObject({
    level: "warning",
    message: expect.stringContaining("9 h"),
    next: "renew",
  });
  expect(at(0)).toMatchObject({ level: "failed" });
  expect(at(-3 * HOUR_MS)).toMatchObject({
    level: "failed",
    message: expect.stringContaining("ran out 3 h ago"),
  });
});
