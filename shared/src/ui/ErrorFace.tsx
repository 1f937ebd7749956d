import { Button } from './Button';
import { EmptyState } from './EmptyState';

export interface ErrorFaceProps {
  text: string;
  onRetry: () => unknown;
  retrying?: boolean;
}

/** A whole screen that could not be had, where `ErrorRow` would look lost. */
export const ErrorFace = ({ text, onRetry, retrying = false }: ErrorFaceProps) => (
  <div role="alert">
    <EmptyState
      drawing="moon"
      text={text}
      action={
        <Button variant="quiet" loading={retrying} onClick={() => onRetry()}>
          重试
        </Button>
      }
    />
  </div>
);
