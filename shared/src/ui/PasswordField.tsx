import ShowIcon from 'lucide-react/icons/eye';
import HideIcon from 'lucide-react/icons/eye-off';
import { useState } from 'react';
import { IconButton } from './IconButton';
import { TextField, type TextFieldProps } from './TextField';

export interface PasswordFieldProps extends Omit<TextFieldProps, 'type' | 'action'> {
  /** Whether the text is readable; without it the field keeps that to itself, hidden at first. */
  visible?: boolean;
  onVisibleChange?: (visible: boolean) => void;
}

export function PasswordField({ visible: givenVisible, onVisibleChange, ...rest }: PasswordFieldProps) {
  const [ownVisible, setOwnVisible] = useState(false);
  const visible = givenVisible ?? ownVisible;
  const toggle = () => {
    setOwnVisible(!visible);
    onVisibleChange?.(!visible);
  };
  return (
    <TextField
      spellCheck={false}
      autoCapitalize="none"
      autoCorrect="off"
      {...rest}
      type={visible ? 'text' : 'password'}
      action={
        <IconButton
          label={visible ? '隐藏密码' : '显示密码'}
          icon={visible ? <HideIcon size={20} /> : <ShowIcon size={20} />}
          onClick={toggle}
        />
      }
    />
  );
}
