import FireIcon from 'lucide-react/icons/flame';
import ChatIcon from 'lucide-react/icons/message-circle';
import UserIcon from 'lucide-react/icons/user';
import type { ComponentProps } from 'react';

type IconProps = ComponentProps<typeof FireIcon>;

export const FireFilledIcon = (props: IconProps) => <FireIcon fill="currentColor" {...props} />;
export const ChatFilledIcon = (props: IconProps) => <ChatIcon fill="currentColor" {...props} />;
export const UserFilledIcon = (props: IconProps) => <UserIcon fill="currentColor" {...props} />;
