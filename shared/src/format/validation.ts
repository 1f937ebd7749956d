// What is wrong with what was typed, in the product's words: told before a server is asked.

/** The fewest characters of a password; a registration proposes one of just as many digits. */
export const PASSWORD_CHARACTERS = 6;

export const missingText = (field: string): string => `请填写${field}`;

/** The rule that a password to be chosen breaks; undefined for a good one. */
export const passwordProblem = (password: string): string | undefined =>
  password.length < PASSWORD_CHARACTERS ? `密码至少 ${PASSWORD_CHARACTERS} 位` : undefined;
