import { Button } from './Button';
import { EmptyState } from './EmptyState';
import { useRetryOnline } from './useRetryOnline';

export interface ErrorFaceProps {
  text: string;
  onRetry: () => unknown;
  retrying?: boolean;
}

/** A whole screen that could not be had, where `ErrorRow` would look lost. */
export function ErrorFace({ text, onRetry, retrying = false }: ErrorFaceProps) {
  useRetryOnline(onRetry);
  return (
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
}
