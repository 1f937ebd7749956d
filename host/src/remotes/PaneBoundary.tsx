import { Component, type ReactNode } from 'react';

interface PaneBoundaryProps {
  children: ReactNode;
  /** Asked once per error: whether the pane is to be tried again by itself. */
  recovers: (error: unknown) => boolean;
  onRetry: () => void;
  /** Shown when it is not. */
  lost: ReactNode;
  /** Shown while that is decided. */
  waiting: ReactNode;
}

interface PaneState {
  face: 'whole' | 'undecided' | 'lost';
}

/** Keeps what goes wrong in a pane inside of it. React has error boundaries as classes only. */
export class PaneBoundary extends Component<PaneBoundaryProps, PaneState> {
  override state: PaneState = { face: 'whole' };

  static getDerivedStateFromError(): PaneState {
    return { face: 'undecided' };
  }

  override componentDidCatch(error: unknown) {
    if (this.props.recovers(error)) this.props.onRetry();
    else this.setState({ face: 'lost' });
  }

  override render() {
    const { children, lost, waiting } = this.props;
    if (this.state.face === 'whole') return children;
    return this.state.face === 'lost' ? lost : waiting;
  }
}
