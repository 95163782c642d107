import { plainLine, plainText } from "@attestore/proof";
import { join } from "node:path";
import { makeDirectory, replaceFile } from "@attestore/host/durable-files";
import { createTransport } from "nodemailer";
import type { Mail, MailTransport } from "./mail.ts";
import { messageOf } from "./message.ts";

/**
 * Without a mail server: shows mails on the service's console and writes each to a file of its own,
 * `DIRECTORY/<id>.eml`, readable only by the service's user. Mails are printed beside the
 * structured log, which others collect, because they contain codes.
 */
export function consoleTransport(
  { directory, from }: { directory: string; from: string },
  print: (text: string) => void,
): MailTransport {
  const compose = createTransport({ streamTransport: true, buffer: true, newline: "unix" });
  return {
    async send(mail, id) {
      const { message } = await compose.sendMail(messageOf(mail, { from, id }));
      if (!Buffer.isBuffer(message)) throw new Error("a mail was composed into no buffer");
      await makeDirectory(directory);
      const file = join(directory, `${id}.eml`);
      await replaceFile(file, message);
      print(shown(mail, file));
    },
    close: () => compose.close(),
  };
}

function shown({ to, subject, text }: Mail, file: string): string {
  const lines = plainText(text)
    .trimEnd()
    .split("\n")
    .map((line) => `  ${line}`.trimEnd());
  return [plainLine(`--- mail to ${to}: ${subject} (${file})`), ...lines, "---", ""].join("\n");
}
