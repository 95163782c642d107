/** The data of a message as a mail's text needs it; absent values are empty. */
export interface MessageFields {
  org: string;
  source: string;
  agent: string;
  /** When the incident began. */
  began: string;
  /** Path of the dashboard's page. */
  page: string;
  text(...path: string[]): string;
  /** Text that a host wrote, changed so that no mail program makes a link of it. */
  words(...path: string[]): string;
  texts(...path: string[]): string[];
  json(name: string): string;
  list(name: string): MessageFields[];
}

type Data = Readonly<Record<string, unknown>>;

export function readMessageFields(data: Data): MessageFields {
  const at = (path: readonly string[]): unknown =>
    path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), data);
  const text = (...path: string[]): string => {
    const value = at(path);
    return typeof value === "string" || typeof value === "number" ? oneLine(String(value)) : "";
  };
  const items = (path: readonly string[]): unknown[] => {
    const value = at(path);
    return Array.isArray(value) ? (value as unknown[]) : [];
  };
  const sourceId = text("source", "id");
  const agentId = text("agent", "id");
  return {
    org: plainName(text("org", "name")),
    source: plainName(text("source", "name") || text("source", "slug") || sourceId),
    agent: plainName(named(text("agent", "name") || agentId, text("agent", "hostname"))),
    began: text("incident", "began_at"),
    page:
      sourceId !== ""
        ? `/sources/${sourceId}`
        : agentId !== ""
          ? `/agents/${agentId}`
          : isRecord(data["removals"])
            ? "/backups"
            : isRecord(data["quota"])
              ? "/settings"
              : "/notifications",
    text,
    words: (...path) => unlinked(text(...path)),
    texts: (...path) => items(path).map((value) => unlinked(oneLine(String(value)))),
    json: (name) => unlinked(oneLine(JSON.stringify(at([name]) ?? null))),
    list: (name) => items([name]).flatMap((item) => (isRecord(item) ? [readMessageFields(item)] : [])),
  };
}

function named(name: string, hostname: string): string {
  return hostname === "" || hostname === name ? name : `${name} (${hostname})`;
}

/** Names and reasons come from hosts: none may add a line, or change the direction of the text. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
}

/**
 * Changes words so that no mail program makes a link of them: somebody who writes a reason on a
 * host must not put an address into the mails of an organisation's people. `evil.example` becomes
 * `evil[.]example`; numbers, times and JSON stay as they are.
 */
function unlinked(words: string): string {
  return words
    .replace(/(?<=\p{L}[\p{L}\p{N}+.-]{0,30}):(?=\S)/gu, "[:]")
    .replace(/[.\u3002\uff0e\uff61](?=[\p{N}-]*\p{L})/gu, "[.]")
    .replace(/[@\uff20](?=\S)/g, "[at]");
}

/**
 * The name of an organisation, a source or an agent: one line without links, tags or IP addresses.
 */
export function plainName(name: string): string {
  return oneLine(name)
    .replace(/[<>]/g, "")
    .replace(/:(?=\S)/g, "[:]")
    .replace(/[.\u3002\uff0e\uff61](?=[\p{L}\p{N}])/gu, "[.]")
    .replace(/[@\uff20](?=\S)/g, "[at]");
}

function isRecord(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
