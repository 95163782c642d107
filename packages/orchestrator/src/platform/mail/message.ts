import { plainLine, plainText } from "@attestore/proof";
import type { SendMailOptions } from "nodemailer";
import type { Mail } from "./mail.ts";

/** The mail in nodemailer's form, in which no part can be mistaken for another. */
export function messageOf(mail: Mail, { from, id }: { from: string; id: string }): SendMailOptions {
  const domain = /@([^@>\s]+)>?$/.exec(from)?.[1] ?? "localhost";
  return {
    from,
    to: { name: "", address: mail.to },
    // Other people wrote the names and reasons in it.
    subject: plainLine(mail.subject),
    text: plainText(mail.text),
    messageId: `<${id}@${domain}>`,
    // RFC 3834 section 5: keeps out-of-office notes from answering it.
    headers: { "Auto-Submitted": "auto-generated" },
    attachments: (mail.attachments ?? []).map(({ filename, contentType, content }) => ({
      filename,
      contentType,
      content,
    })),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
