import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SecureContextOptions } from "node:tls";
import { errorMessage } from "@attestore/host/errno";
import type { Pool } from "pg";
import type { Config } from "../platform/config/read-config.ts";
import type { AuthorityKey } from "../platform/keys/authority-key.ts";
import { recordAuthority } from "../platform/keys/recorded-authority.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { loadServerTls, type TlsSettings } from "../platform/tls/server-tls.ts";

/** A replaced certificate is served within this time, and at once after SIGHUP. */
const RENEWAL_EVERY_MS = 60 * 1000;

/** The certificate that the service uses now. */
export class ServerCertificate {
  /** The certificate that clients of the local CA pin; null for a certificate of the user's own. */
  readonly caFile: string | null;
  readonly caPem: string | null;
  readonly #settings: TlsSettings;
  readonly #log: Logger;
  #options: SecureContextOptions;

  private constructor(
    settings: TlsSettings,
    log: Logger,
    loaded: { options: SecureContextOptions; caFile: string | null; caPem: string | null },
  ) {
    this.#settings = settings;
    this.#log = log;
    this.#options = loaded.options;
    this.caFile = loaded.caFile;
    this.caPem = loaded.caPem;
  }

  static async load(config: Config, authority: AuthorityKey | null, log: Logger): Promise<ServerCertificate> {
    const settings = {
      directory: join(config.data, "tls"),
      hostnames: [...config.hostnames, new URL(config.publicUrl).hostname, config.listen.host],
      certificateFile: config.tlsCertificate,
      keyFile: config.tlsKey,
      authority,
    };
    const { options, caFile } = await loadServerTls(settings, log);
    const caPem = caFile === null ? null : await readFile(caFile, "utf8");
    return new ServerCertificate(settings, log, { options, caFile, caPem });
  }

  get options(): SecureContextOptions {
    return this.#options;
  }

  /** In PEM, with its chain. */
  get pem(): string {
    return String(this.#options.cert);
  }

  get validTo(): Date {
    return new Date(new X509Certificate(this.pem).validTo);
  }

  /** Warns if the start before this one served with another authority, and records this one. */
  async warnOfOtherAuthority(pool: Pool): Promise<void> {
    const other = this.caPem === null ? null : await recordAuthority(pool, this.caPem);
    if (other === null) return;
    this.#log.warn(
      { ca_file: this.caFile ?? undefined, other_sha256: other },
      "the start before this one, perhaps another replica's, served with another certificate authority: agents that know its ca.pem refuse this one. Replicas need the same tls/, or a certificate of your own (ATTESTORE_TLS_CERT)",
    );
  }

  /** Looks for a replaced certificate from time to time. Returns what ends that. */
  renewFor(serve: (options: SecureContextOptions) => void): () => void {
    const renew = (): void => {
      void loadServerTls(this.#settings, this.#log)
        .then(({ options }) => {
          serve(options);
          this.#options = options;
        })
        .catch((error: unknown) =>
          this.#log.error({ reason: errorMessage(error) }, "the server certificate could not be renewed"),
        );
    };
    const timer = setInterval(renew, RENEWAL_EVERY_MS);
    process.on("SIGHUP", renew);
    return () => {
      clearInterval(timer);
      process.off("SIGHUP", renew);
    };
  }
}
