; reverse: writes its input backwards
>,[>,]<[.<]
