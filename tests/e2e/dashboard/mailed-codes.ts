/**
 * The one-time codes mailed to an address, oldest first. Without a mail server, the service prints
 * mails on its console.
 */
export function mailedCodes(talk: string, email: string): string[] {
  const mails = talk.split(/^--- mail to /m).slice(1);
  return mails
    .filter((mail) => mail.startsWith(`${email}: `))
    .flatMap((mail) => /^\s+([A-Z0-9]{4}-[A-Z0-9]{4})$/m.exec(mail.split(/^---$/m)[0] ?? "")?.[1] ?? []);
}
