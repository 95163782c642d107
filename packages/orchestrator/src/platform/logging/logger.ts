/**
 * The platform's logger: fields first, then a message that is the same for every line of its kind.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The same, with these fields in every line. */
export function withFields(logger: Logger, more: object): Logger {
  return {
    debug: (fields, message) => logger.debug({ ...more, ...fields }, message),
    info: (fields, message) => logger.info({ ...more, ...fields }, message),
    warn: (fields, message) => logger.warn({ ...more, ...fields }, message),
    error: (fields, message) => logger.error({ ...more, ...fields }, message),
  };
}

const ignore = (): void => undefined;

export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
