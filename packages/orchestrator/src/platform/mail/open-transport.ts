import { join } from "node:path";
import type { Config } from "../config/read-config.ts";
import { consoleTransport } from "./console-transport.ts";
import type { MailTransport } from "./mail.ts";
import { smtpTransport } from "./smtp-transport.ts";

/**
 * How mails leave: through the SMTP server in the settings, or otherwise to the console and into
 * files.
 */
export function openMailTransport(
  config: Pick<Config, "smtpUrl" | "mailFrom" | "publicUrl" | "data">,
  print: (text: string) => void,
): MailTransport {
  const from = config.mailFrom ?? `Attestore <attestore@${new URL(config.publicUrl).hostname}>`;
  return config.smtpUrl === undefined
    ? consoleTransport({ directory: join(config.data, "mail"), from }, print)
    : smtpTransport(config.smtpUrl, from);
}
