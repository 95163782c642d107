/**
 * The current time. Everything that depends on the calendar asks a clock, so that a test can move
 * it over a month.
 */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
