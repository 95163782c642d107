import { shellWord } from "@attestore/proof";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { readCommandConfig } from "../platform/config/served-address.ts";
import { UserError } from "../platform/errors/user-error.ts";
import {
  distrustAuthority,
  readAuthority,
  type SystemAuthority,
  trustAuthority,
} from "../platform/tls/system-trust.ts";
import { type CommonOptions, consoleCommand } from "./console-command.ts";
import { printOutcome } from "./outcome.ts";

interface TrustOptions extends CommonOptions {
  undo?: boolean;
}

/**
 * `attestore-server trust`: installs the service's own certificate authority into the trust store
 * of the machine that it runs on, and takes it out again.
 */
export function trustCommand(): Command {
  return consoleCommand(
    "trust",
    "Have this machine's programs trust the service's own certificate authority (as root)",
  )
    .option("--undo", "take it out of the machine's trust store again")
    .action(async (options: TrustOptions) => {
      const config = await readCommandConfig(process.env);
      const data = resolve(config.data);
      if (config.tlsCertificate !== undefined)
        throw new UserError(
          "certificate",
          "The service has a certificate of your own (ATTESTORE_TLS_CERT), so it has no authority that could be installed.",
        );
      const caFile = join(data, "tls", "ca.pem");
      if (process.getuid?.() !== 0) throw new UserError("certificate", asRoot(data, options.undo === true));
      const authority = await readAuthority(caFile);
      if (options.undo === true) await undo(authority, options);
      else await install(authority, { caFile, publicUrl: config.publicUrl, options });
    });
}

async function install(
  authority: SystemAuthority,
  { caFile, publicUrl, options }: { caFile: string; publicUrl: string; options: TrustOptions },
): Promise<void> {
  const changed = await trustAuthority(authority);
  const { fingerprint256 } = authority.certificate;
  printOutcome(
    {
      json: { trusted: true, changed, file: authority.file, ca_sha256: fingerprint256 },
      talk: [
        changed
          ? "This machine now trusts the service's own certificate authority:"
          : "This machine already trusts the service's own certificate authority:",
        `  ${caFile}`,
        `  SHA-256 ${fingerprint256}`,
        `It is in ${authority.file}, and update-ca-certificates has run.`,
        "Programs that use the system's store (curl, git, Python, Go) trust it, for any name: whoever has tls/ca.key can pretend to be any website to them.",
        `Browsers have stores of their own. For Chromium and Chrome, as yourself: certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n attestore -i ${caFile}`,
        "For Firefox: Settings, Privacy & Security, View Certificates, Authorities, Import.",
        "To undo it: attestore-server trust --undo",
      ],
      result: authority.file,
      next: `curl ${new URL("/readyz", publicUrl).href}`,
    },
    options,
  );
}

async function undo(authority: SystemAuthority, options: TrustOptions): Promise<void> {
  const changed = await distrustAuthority(authority);
  printOutcome(
    {
      json: {
        trusted: false,
        changed,
        file: authority.file,
        ca_sha256: authority.certificate.fingerprint256,
      },
      talk: [
        changed
          ? `Removed ${authority.file}, and update-ca-certificates has run: this machine no longer trusts the service's authority.`
          : `There is no ${authority.file}: this machine did not trust the service's authority.`,
        "Browsers have stores of their own. Chromium and Chrome, as yourself: certutil -d sql:$HOME/.pki/nssdb -D -n attestore",
      ],
      result: "",
    },
    options,
  );
}

/** The same call as root, in whose shell neither Node nor the service's settings are. */
function asRoot(data: string, isUndo: boolean): string {
  const [node, program] = [process.execPath, process.argv[1] ?? "attestore-server"];
  const call = ["sudo", `ATTESTORE_DATA=${data}`, node, program, "trust", ...(isUndo ? ["--undo"] : [])];
  return `Only root may change which authorities this machine trusts. Run:\n  ${call.map(shellWord).join(" ")}`;
}
