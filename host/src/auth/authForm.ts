import { type Gender, makeNickname } from './nickname';
import { randomDigits } from './random';

export type AuthMode = 'register' | 'login' | 'confirm-email';

export interface AuthForm {
  mode: AuthMode;
  gender: Gender;
  name: string;
  login: string;
  password: string;
  passwordVisible: boolean;
  /** The password we made up for this form; the visitor may have typed their own over it. */
  generatedPassword: string | null;
}

const usernameDigits = 8;
const passwordDigits = 6;

/** Filled with values of our making; the password shows, since the visitor is told to keep a screenshot. */
export function registerForm(gender: Gender): AuthForm {
  const password = randomDigits(passwordDigits);
  return {
    mode: 'register',
    gender,
    name: makeNickname(gender),
    login: `a${randomDigits(usernameDigits)}`,
    password,
    passwordVisible: true,
    generatedPassword: password,
  };
}

export const loginForm = (gender: Gender): AuthForm => ({
  mode: 'login',
  gender,
  name: '',
  login: '',
  password: '',
  passwordVisible: false,
  generatedPassword: null,
});

export const openedForm = (mode: 'register' | 'login', gender: Gender = 'male'): AuthForm =>
  mode === 'register' ? registerForm(gender) : loginForm(gender);
