/** The one-time codes that were mailed to an address, oldest first: without a mail server the service shows mails on its console. */
export function mailedCodes(talk: string, email: string): string[] {
  const mails = talk.split(/^--- mail to /m).slice(1);
  return mails
    .filter((mail) => mail.startsWith(`${email}: `))
    .flatMap((mail) => /^\s+([A-Z0-9]{4}-[A-Z0-9]{4})$/m.exec(mail.split(/^---$/m)[0] ?? "")?.[1] ?? []);
}
