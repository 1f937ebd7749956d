import type { User } from '@liaozhai/shared/runtime';
import { PasswordField } from '@liaozhai/shared/ui';
import type { ComponentProps } from 'react';

type CurrentPasswordProps = { user: User } & ComponentProps<typeof PasswordField>;

/** Field of a form that changes something by the user's password. */
export const CurrentPassword = ({ user, ...field }: CurrentPasswordProps) => (
  <>
    {/* password managers need the user name that belongs to the password */}
    <input type="text" name="username" autoComplete="username" value={user.username} readOnly hidden />
    <PasswordField {...field} autoComplete="current-password" required />
  </>
);
