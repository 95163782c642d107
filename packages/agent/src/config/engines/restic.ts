import type { SecretReference } from "../../secrets/secret-reference.ts";
import { maxAgeOf } from "./max-age.ts";
import type { EngineSettings } from "./settings.ts";

export interface ResticSettings {
  /** As in `restic --repo`. */
  readonly repository: string;
  readonly password: SecretReference;
  /** Only snapshots with all of these. */
  readonly tags: readonly string[];
  readonly host: string | null;
  /** A file of the snapshot that is a dump of a database; null for the whole tree. */
  readonly file: string | null;
  /** How old the newest snapshot may be; null for any age. */
  readonly max_age_s: number | null;
  /**
   * Restic runs as the agent, with the agent's files and the network, and reads the repository
   * itself.
   */
  readonly as_agent: boolean;
}

export const resticSettings: EngineSettings<ResticSettings> = {
  fields: ["repository", "password", "tags", "host", "file", "max_age_s", "as_agent"],
  parse: (fields) => {
    const repository = fields.text("repository", "the repository, as restic --repo takes it");
    // It would be in argument lists, which everybody on the host can read.
    if (repository !== null && /^[^/]*:\/\/[^/@]*:[^/@]*@/.test(repository.replace(/^rest:/, "")))
      fields.issue(
        "repository",
        "must not hold a password: give it in the environment (RESTIC_REST_PASSWORD, AWS_…)",
      );
    const password = fields.secret("password");
    const tags = fields.texts("tags", "tags") ?? [];
    const host = fields.optionalText("host", "a host's name");
    const file = fields.optionalText("file", "the absolute path of a dump in the snapshot");
    if (file !== null && !file.startsWith("/"))
      fields.issue("file", "must be an absolute path in the snapshot");
    const max_age_s = maxAgeOf(fields);
    const as_agent = fields.flag("as_agent", false);
    return repository === null || password === null
      ? null
      : { repository, password, tags, host, file, max_age_s, as_agent };
  },
};
