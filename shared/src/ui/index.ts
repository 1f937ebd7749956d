// re-exported, so that remotes depend on React only
export { flushSync } from 'react-dom';
export { listenTo, stopAll } from '../format/listening';
export { Avatar, type AvatarProps } from './Avatar';
export { Button, type ButtonProps, IconButton, type IconButtonProps, Spinner } from './Button';
export { Card, Divider, ListRow, type ListRowProps } from './Card';
export { Badge, Chip, type ChipProps, Tag } from './Chip';
export { Cover, type CoverProps, useCoverColor } from './Cover';
export { useCountdown, useNow, useShanghaiDay } from './clock';
export { Dialog, type DialogProps } from './Dialog';
export { Foreign } from './Foreign';
export { guardHistory, leaveDeadOverlays } from './historyGuard';
export { EndOfList, InfiniteList, type InfiniteListProps, scrollerOf } from './InfiniteList';
export { type Drawing, InkDrawing, Seal } from './InkDrawing';
export * from './icons';
export { keepFocus } from './keepFocus';
export { late, useModule } from './late';
export { Menu, type MenuItem, type MenuProps } from './Menu';
export { attempt, media, useIsWide } from './media';
export { followKeyboard } from './overlays';
export { PullToRefresh, type PullToRefreshProps, RefreshButton } from './PullToRefresh';
export {
  EmptyState,
  type EmptyStateProps,
  ErrorFace,
  type ErrorFaceProps,
  ErrorRow,
  type ErrorRowProps,
  ProblemCode,
  type Query,
  QueryView,
  type QueryViewProps,
} from './QueryView';
export {
  FONT_SIZES,
  GENDERS,
  RadioGroup,
  type RadioGroupProps,
  type RadioOption,
  Switch,
  type SwitchProps,
} from './RadioGroup';
export { type ReportRow, RowBoundary, RowFaults } from './RowBoundary';
export { ScreenSkeleton } from './ScreenSkeleton';
export { SearchField, type SearchFieldProps } from './SearchField';
export { Sheet, type SheetProps } from './Sheet';
export { Skeleton, type SkeletonProps, type SkeletonShape } from './Skeleton';
export { Passages, StoryText } from './StoryText';
export { SwipeRow, type SwipeRowProps } from './SwipeRow';
export {
  Field,
  type FieldControl,
  type FieldErrors,
  type FieldTexts,
  PasswordField,
  type PasswordFieldProps,
  TextArea,
  type TextAreaProps,
  TextField,
  type TextFieldProps,
  useFieldErrors,
} from './TextField';
export { type ShownToast, Toaster } from './Toaster';
export { TopBar, type TopBarProps } from './TopBar';
export { hasKeptPages, useKeptCopy, useKeptPages } from './useKeptPages';
export { type ModalOptions, useModalDialog } from './useModalDialog';
export { VisuallyHidden } from './VisuallyHidden';
