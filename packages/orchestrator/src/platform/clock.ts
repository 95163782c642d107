/**
 * What time it is. Whatever goes by the calendar asks one of these, so that a test can move it over
 * a month.
 */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
