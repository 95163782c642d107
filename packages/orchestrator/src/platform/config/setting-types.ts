import { isIP } from "node:net";
import { resolve } from "node:path";
import { InvalidServers, parseServers } from "../database/servers.ts";
import { parsePkcs11Uri } from "./pkcs11-uri.ts";

/** Reads a setting's text. Throws InvalidValue, whose message ends the sentence "… has to be". */
export type ReadValue<T> = (text: string) => T;

export class InvalidValue extends Error {}

export interface ListenAddress {
  host: string;
  port: number;
}

export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the first byte. */
  implicitTls: boolean;
  auth: { user: string; password: string } | null;
}

export interface RateLimitSetting {
  limit: number;
  window_s: number;
}

const HOST_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*$/;

export const text: ReadValue<string> = (value) => value;

/** A secret that nobody can guess. */
export function longText(min: number): ReadValue<string> {
  return (value) => {
    if (value.length >= min && !/\s/.test(value)) return value;
    throw new InvalidValue(`at least ${min} characters, without white space`);
  };
}

export const path: ReadValue<string> = (value) => resolve(value);

export function wholeNumber(min: number, max: number): ReadValue<number> {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidValue(`a whole number from ${min} to ${max}`);
  };
}

/** The same, or `none`, which is null. */
export function numberOrNone(min: number, max: number): ReadValue<number | null> {
  return (value) => {
    if (value.toLowerCase() === "none") return null;
    try {
      return wholeNumber(min, max)(value);
    } catch {
      throw new InvalidValue(`a whole number from ${min} to ${max}, or none`);
    }
  };
}

/** The same, or this word. */
export function wholeNumberOr<const Word extends string>(
  word: Word,
  min: number,
  max: number,
): ReadValue<number | Word> {
  return (value) => {
    if (value.toLowerCase() === word) return word;
    try {
      return wholeNumber(min, max)(value);
    } catch {
      throw new InvalidValue(`a whole number from ${min} to ${max}, or ${word}`);
    }
  };
}

export const yesOrNo: ReadValue<boolean> = (value) => {
  if (["true", "yes", "1"].includes(value.toLowerCase())) return true;
  if (["false", "no", "0"].includes(value.toLowerCase())) return false;
  throw new InvalidValue("true or false");
};

export function oneOf<const T extends string>(...values: T[]): ReadValue<T> {
  return (value) => {
    const found = values.find((candidate) => candidate === value);
    if (found !== undefined) return found;
    throw new InvalidValue(`one of ${values.join(", ")}`);
  };
}

/** Separated by commas or spaces. */
export function listOf<T>(read: ReadValue<T>): ReadValue<T[]> {
  return (value) =>
    value
      .split(/[\s,]+/)
      .filter((part) => part !== "")
      .map(read);
}

/** A host name or an IP address. */
export const host: ReadValue<string> = (value) => {
  if (HOST_NAME.test(value) || isIP(value) !== 0) return value;
  throw new InvalidValue("a host name or an address");
};

export const addressOrNetwork: ReadValue<string> = (value) => {
  const [address = "", bits, ...rest] = value.split("/");
  const most = isIP(address) === 6 ? 128 : 32;
  const bitsFit = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
  if (isIP(address) !== 0 && bitsFit && rest.length === 0) return value;
  throw new InvalidValue("an address such as 10.0.0.7, or a network such as 10.0.0.0/8");
};

/** `host:port`, `[::1]:port`, or `:port` for all addresses. */
export const listenAddress: ReadValue<ListenAddress> = (value) => {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(value);
  const name = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  const isValid =
    name !== undefined && port <= 65_535 && (name === "" || isIP(name) !== 0 || HOST_NAME.test(name));
  if (isValid) return { host: name === "" ? "::" : name, port };
  throw new InvalidValue("host:port, such as 127.0.0.1:8443, or :8443 for all addresses of this machine");
};

/** An https address without path or query; stored without a trailing slash. */
export const baseUrl: ReadValue<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url !== null && url.protocol === "https:" && `${url.origin}/` === url.href && url.username === "")
    return url.origin;
  throw new InvalidValue("an address such as https://attestore.example.org:8443, with nothing after it");
};

/** Like baseUrl, but also http, for a store on the same machine or network. */
export const endpointUrl: ReadValue<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href && url.username === "")
    return url.origin;
  throw new InvalidValue("an address such as https://s3.example.org, with nothing after it");
};

export const postgresUrl: ReadValue<string> = (value) => {
  const form = "a connection URL, postgresql://USER:PASSWORD@HOST:PORT/DATABASE";
  if (!/^postgres(ql)?:\/\//.test(value)) throw new InvalidValue(form);
  try {
    if (parseServers(value).urls.every((url) => URL.canParse(url))) return value;
  } catch (error) {
    if (error instanceof InvalidServers) throw new InvalidValue(error.message);
    throw error;
  }
  throw new InvalidValue(form);
};

/**
 * `smtp://` (STARTTLS if the server has it, and always with a password) or `smtps://`; the default
 * port is 587 or 465.
 */
export const smtpUrl: ReadValue<SmtpServer> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === "" || !/^\/?$/.test(url.pathname))
    throw new InvalidValue(SMTP_FORM);
  if (url.search !== "" || url.hash !== "" || (url.username === "") !== (url.password === ""))
    throw new InvalidValue(SMTP_FORM);
  const implicitTls = url.protocol === "smtps:";
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (implicitTls ? 465 : 587) : Number(url.port),
    implicitTls,
    auth:
      url.username === ""
        ? null
        : { user: percentDecoded(url.username), password: percentDecoded(url.password) },
  };
};

const SMTP_FORM =
  "an address such as smtps://USER:PASSWORD@mail.example.org or smtp://localhost:25, with nothing after it";

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidValue(SMTP_FORM);
  }
}

/** `address@host` or `Name <address@host>`. */
export const mailbox: ReadValue<string> = (value) => {
  if (/^[^<>@\s]+@[^<>@\s]+$/.test(value) || /^[^<>@\p{Cc}"]* <[^<>@\s]+@[^<>@\s]+>$/u.test(value))
    return value;
  throw new InvalidValue("an address such as attestore@example.org, or Name <attestore@example.org>");
};

/** `hits/seconds`. */
export const rateLimit: ReadValue<RateLimitSetting> = (value) => {
  const match = /^(\d{1,9})\/(\d{1,7})$/.exec(value);
  const [limit, window_s] = [Number(match?.[1]), Number(match?.[2])];
  if (limit >= 1 && window_s >= 1) return { limit, window_s };
  throw new InvalidValue("calls/seconds, such as 600/60");
};

/** A key in a token (RFC 7512), stored as it was written. */
export const pkcs11Uri: ReadValue<string> = (value) => {
  try {
    return parsePkcs11Uri(value).text;
  } catch (error) {
    throw new InvalidValue(error instanceof TypeError ? error.message : String(error));
  }
};

/** An X25519 or post-quantum recipient by its form; whatever encrypts to it checks its checksum. */
export const ageRecipient: ReadValue<string> = (value) => {
  if (/^age1(?:[02-9ac-hj-np-z]{58}|pq1[02-9ac-hj-np-z]{1000,2500})$/.test(value)) return value;
  throw new InvalidValue("a recipient that age-keygen prints, age1…");
};
