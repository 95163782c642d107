/** A mail of plain text, with its attachments. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  attachments?: readonly MailAttachment[];
}

export interface MailAttachment {
  filename: string;
  /** E.g. `application/json`. */
  contentType: string;
  content: Buffer;
}

export interface MailTransport {
  /**
   * Resolves when somebody else has to deliver the mail, or it is stored. `id` stays the same when
   * it is tried again.
   */
  send(mail: Mail, id: string): Promise<void>;
  close(): void;
}
