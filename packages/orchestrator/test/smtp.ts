import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface Received {
  from: string;
  to: string[];
  /** The message as it came. */
  message: string;
  /** Who signed in, and whether it came over TLS. */
  user: string | undefined;
  secure: boolean;
}

export interface TestSmtpServer {
  port: number;
  received: Received[];
  /** Answers mails with this error until it is null again. */
  refuseWith: string | null;
  close(): Promise<void>;
}

/** A real SMTP server on 127.0.0.1 that keeps what it is sent. */
export async function startSmtpServer(options: SMTPServerOptions = {}): Promise<TestSmtpServer> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      username === "service" && password === "pass word/1"
        ? done(null, { user: username })
        : done(new Error("wrong password")),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (smtp.refuseWith !== null)
          return done(Object.assign(new Error(smtp.refuseWith), { responseCode: 451 }));
        const { mailFrom, rcptTo } = session.envelope;
        smtp.received.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          message: Buffer.concat(chunks).toString(),
          user: session.user,
          secure: session.secure,
        });
        done();
      });
    },
    ...options,
  });
  // Clients that let go of a connection in the middle are part of some tests.
  server.on("error", () => undefined);
  const listener = server.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const smtp: TestSmtpServer = {
    port: (listener.address() as AddressInfo).port,
    received: [],
    refuseWith: null,
    close: () =>
      new Promise((closed) => {
        server.close(closed);
      }),
  };
  return smtp;
}
