/** The failures a user can meet. Everything else is a bug and keeps its stack. */

/** Bad input or an impossible request: what broke with the value, what was needed, what to do next. Exit code 2. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/** A server, disk or network that failed: never scored as a wrong answer; the run can be resumed. Exit code 3. */
export class InfraError extends Error {
  override readonly name = 'InfraError';
}

/** The user asked to stop; what is finished is kept, the same command continues. Exit code 130. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** An alarm that the user asked to stop on; what is finished is kept. Exit code 130. */
export class Alarmed extends Interrupted {}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
