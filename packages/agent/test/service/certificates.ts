import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/**
 * A CA and a leaf for localhost, made by openssl. The leaf is valid for `days` days from
 * now; if negative, it has expired.
 */
export function makeCertificates(days = 2): Certificates {
  const directory = mkdtempSync(join(tmpdir(), "attestore-tls-"));
  const at = (name: string): string => join(directory, name);
  const openssl = (...args: string[]): void => {
    execFileSync("openssl", args, { stdio: "pipe" });
  };
  try {
    const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    const ca = [
      "-x509",
      "-days",
      "2",
      "-subj",
      "/CN=Test CA",
      "-addext",
      "basicConstraints=critical,CA:TRUE",
    ];
    openssl("req", ...ec, ...ca, "-keyout", at("ca.key"), "-out", at("ca.pem"));
    openssl("req", ...ec, "-subj", "/CN=localhost", "-keyout", at("leaf.key"), "-out", at("leaf.csr"));
    writeFileSync(at("ext"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
    const sign = ["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial", "-days", `${days}`];
    openssl("x509", "-req", "-in", at("leaf.csr"), ...sign, "-extfile", at("ext"), "-out", at("leaf.pem"));
    const read = (name: string): string => readFileSync(at(name), "utf8");
    return { ca: read("ca.pem"), cert: read("leaf.pem") + read("ca.pem"), key: read("leaf.key") };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
