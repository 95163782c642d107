import { errorMessage } from "@attestore/host/errno";
import type { SmtpServer } from "../../platform/config/setting-types.ts";
import { verifySmtp } from "../../platform/mail/smtp-transport.ts";
import { failed, type Finding, ok, warning } from "@attestore/host/finding";

/** Connects to the mail server and signs in, and sends nothing. */
export async function examineMail(server: SmtpServer | undefined): Promise<Finding> {
  if (server === undefined)
    return warning(
      "smtp",
      "No mail server is set: login codes are printed on the service's console.",
      "Set ATTESTORE_SMTP_URL before others use the service.",
    );
  const where = `${server.host}:${server.port}`;
  try {
    await verifySmtp(server);
    return ok("smtp", `${where} answers${server.auth === null ? "" : ", and accepts the password"}.`);
  } catch (error) {
    return failed(
      "smtp",
      `${where}: ${errorMessage(error)}.`,
      "Check ATTESTORE_SMTP_URL and ATTESTORE_MAIL_FROM.",
    );
  }
}
