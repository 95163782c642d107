/** A mail of plain text; what is attached goes with it. */
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

/** What a mail is handed to. */
export interface MailTransport {
  /**
   * Resolves when the mail is somebody else's to deliver, or is kept. `id` stays the same when it
   * is tried again.
   */
  send(mail: Mail, id: string): Promise<void>;
  close(): void;
}
