export { act, fireEvent, render, renderHook, screen, waitFor, within } from '@testing-library/react';
export { type UserEvent, userEvent } from '@testing-library/user-event';
export { fakeEndOfList } from './endOfList';
export { type FakeResponse, fakeApi, type Handlers, offline, type RecordedRequest } from './fakeApi';
export { fakeRealtime, type Live } from './fakeRealtime';
export { oddBodies, oddRows, oddValues, programmersWords } from './oddAnswers';
export { memberDto, type OpenOptions, type OpenRemote, openRemote } from './openRemote';
export { refuseToDraw } from './refuseToDraw';
export { onTestEnd, resetRuntime } from './reset';
