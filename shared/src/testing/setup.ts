import { cleanup } from '@testing-library/react';
import { afterEach } from '@rstest/core';

afterEach(() => cleanup());
