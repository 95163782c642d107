import { createTransport } from "nodemailer";
import type { SmtpServer } from "../config/setting-types.ts";
import type { MailTransport } from "./mail.ts";
import { messageOf } from "./message.ts";

const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;

/**
 * Hands mails to an SMTP server: with TLS from the first byte (`smtps`), or otherwise with STARTTLS
 * if the server has it. A password is never sent over a connection without TLS.
 */
export function smtpTransport(server: SmtpServer, from: string): MailTransport {
  const transport = connectTo(server);
  return {
    async send(mail, id) {
      await transport.sendMail(messageOf(mail, { from, id }));
    },
    close: () => transport.close(),
  };
}

/** Connects and signs in, and sends nothing. Throws the error of the server or the connection. */
export async function verifySmtp(server: SmtpServer): Promise<void> {
  const transport = connectTo(server);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

function connectTo({ host, port, implicitTls, auth }: SmtpServer) {
  return createTransport({
    host,
    port,
    secure: implicitTls,
    requireTLS: auth !== null && !implicitTls,
    ...(auth === null ? {} : { auth: { user: auth.user, pass: auth.password } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // Without a password any STARTTLS certificate is accepted: somebody who can replace it could
    // also remove STARTTLS.
    tls: { minVersion: "TLSv1.2", rejectUnauthorized: implicitTls || auth !== null },
  });
}
