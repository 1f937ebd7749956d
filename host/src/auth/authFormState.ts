import type { LoginMode } from '@liaozhai/shared/runtime';
import { type Gender, makeNickname, randomDigits } from './nickname';

export type AuthMode = 'invite' | 'register' | 'login' | 'confirm-email';

export interface AuthForm {
  mode: AuthMode;
  gender: Gender;
  name: string;
  login: string;
  password: string;
  passwordVisible: boolean;
  /** The password generated for this form; the visitor may have replaced it. */
  generatedPassword: string | null;
}

const USERNAME_DIGITS = 8;
const PASSWORD_DIGITS = 6;

/** Prefilled with generated values; the password is visible, since the visitor is asked to take a screenshot. */
export function registerForm(gender: Gender): AuthForm {
  const password = randomDigits(PASSWORD_DIGITS);
  return {
    mode: 'register',
    gender,
    name: makeNickname(gender),
    login: `a${randomDigits(USERNAME_DIGITS)}`,
    password,
    passwordVisible: true,
    generatedPassword: password,
  };
}

export const loginForm = (gender: Gender, login = ''): AuthForm => ({
  mode: 'login',
  gender,
  name: '',
  login,
  password: '',
  passwordVisible: false,
  generatedPassword: null,
});

export function initialForm(mode: LoginMode, login?: string): AuthForm {
  if (mode === 'login') return loginForm('male', login);
  return { ...registerForm('male'), mode };
}
