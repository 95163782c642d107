import { plainLine, plainText } from "@attestore/proof";
import type { SendMailOptions } from "nodemailer";
import type { Mail } from "./mail.ts";

/** The mail as nodemailer takes it: no part of it is read as anything but what it is. */
export function messageOf(mail: Mail, { from, id }: { from: string; id: string }): SendMailOptions {
  const domain = /@([^@>\s]+)>?$/.exec(from)?.[1] ?? "localhost";
  return {
    from,
    to: { name: "", address: mail.to },
    // Names and reasons in it are of others.
    subject: plainLine(mail.subject),
    text: plainText(mail.text),
    messageId: `<${id}@${domain}>`,
    // RFC 3834 section 5: no out-of-office note is to answer it.
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
